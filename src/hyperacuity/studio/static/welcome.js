// Asks who is working, then comes back to the same page.
import { ask, problem } from "./studio.js";

document.getElementById("welcome").addEventListener("submit", async (event) => {
  event.preventDefault();
  try {
    await ask("/people", { method: "POST", body: { name: document.getElementById("name").value } });
    location.reload();
  } catch (error) {
    problem(error.message);
  }
});

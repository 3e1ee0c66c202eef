// The list of images: only the button for somebody else needs a script.
import { $, ask, problem } from "../studio.js";

$("leave").addEventListener("click", async () => {
  try {
    await ask("/people", { method: "DELETE" });
    location.reload();
  } catch (error) {
    problem(error.message);
  }
});

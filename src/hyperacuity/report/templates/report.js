// What happens when the page is ready.
addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("[data-controls]")) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => arrange(form));
    form.addEventListener("reset", () => setTimeout(() => arrange(form)));
    form.querySelector(".names").addEventListener("click", (event) => {
      const sheet = facts[form.dataset.controls.slice(1)];
      copyText(sheet.order.map((place) => sheet.images[place].name).join(","), event.target);
    });
    arrange(form);
  }
  tags.show();
  turn();
  viewer.follow();
});
addEventListener("hashchange", turn);
addEventListener("resize", () => viewer.fit());
addEventListener("beforeprint", () => { for (const part of document.querySelectorAll(".reproduce details, .meanings")) part.open = true; });

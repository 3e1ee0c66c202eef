// The theme's script wraps tables and adds buttons to code. Tables that scroll can be reached with the keyboard; a button is no landmark.
{
  const tend = () => {
    for (const table of document.querySelectorAll(".md-typeset__scrollwrap")) {
      if (table.scrollWidth > table.clientWidth) table.tabIndex = 0;
      else table.removeAttribute("tabindex");
    }
    for (const buttons of document.querySelectorAll(".md-code__nav:not([role])")) buttons.setAttribute("role", "presentation");
  };
  new MutationObserver(tend).observe(document.body, {childList: true, subtree: true});
  addEventListener("resize", tend);
  tend();
}

// Scrolls the page, and the boxes of it that scroll: by so many of their heights from the top, or to the end where no
// number is given. The page's listeners are told at its next frame. It returns whether there is more below. Programs
// that are put off until somebody moves the mouse, as optimizers of WordPress do it, get to run.
(at => {
  let left = 20, more = false;
  const to = (el, tall, height) => {
    const end = tall - height, top = at === undefined ? tall : at * height;
    more ||= top < end;
    el.scrollTo({top, behavior: "instant"});
  };
  const all = root => {
    for (const el of root.querySelectorAll("*")) {
      if (left > 0 && el.scrollHeight > el.clientHeight + 8 && el.clientHeight > 100 && /auto|scroll|overlay/.test(getComputedStyle(el).overflowY)) {
        left--;
        to(el, el.scrollHeight, el.clientHeight);
      }
      if (el.shadowRoot) all(el.shadowRoot);
    }
  };
  all(document);
  const high = el => el ? el.scrollHeight : 0; // of the body in documents without a type
  to(window, Math.max(high(document.documentElement), high(document.body)), innerHeight);
  document.dispatchEvent(new Event("whirlpool:scroll"));
  if (at === undefined) {
    for (const kind of ["pointermove", "mousemove", "mouseover"]) {
      const of = kind === "pointermove" ? PointerEvent : MouseEvent;
      (document.body ?? document.documentElement).dispatchEvent(new of(kind, {bubbles: true, clientX: 1, clientY: 1}));
    }
  }
  return more;
})

// Scrolls to the end: the page, and the boxes of it that scroll. The page's listeners are told at its next frame.
(() => {
  const all = root => {
    for (const el of root.querySelectorAll("*")) {
      if (left > 0 && el.scrollHeight > el.clientHeight + 8 && el.clientHeight > 100 && /auto|scroll|overlay/.test(getComputedStyle(el).overflowY)) {
        left--;
        el.scrollTo({top: el.scrollHeight, behavior: "instant"});
      }
      if (el.shadowRoot) all(el.shadowRoot);
    }
  };
  let left = 20;
  all(document);
  const high = el => el ? el.scrollHeight : 0; // of the body in documents without a type
  window.scrollTo({top: Math.max(high(document.documentElement), high(document.body)), behavior: "instant"});
  document.dispatchEvent(new Event("whirlpool:scroll"));
})()

// Frames that no compositor draws. The page's time goes on faster than frames are drawn, and on a busy machine they are
// drawn late, or not at all. So what a page does at a frame is done by a timer of its own time: callbacks for the next
// frame, and what is told of elements that come into view, change their size, or are scrolled. Two renders of a page
// then have the same frames: each 16 ms at first, later each 100 ms.
((quick, gap, longGap, mostSights, mostTargets) => {
  if (!self.document || !self.requestAnimationFrame) return;
  const later = setTimeout.bind(self), now = performance.now.bind(performance), call = Reflect.apply;
  const find = Document.prototype.querySelectorAll;
  const safely = (f, self, ...given) => { try { call(f, self, given) } catch (e) { reportError(e) } };
  let drawn = 0, timer = 0, ids = 0, sights = 0, forced = false, due = new Map(), running = due, clipping = new Map();
  const sightings = new Map(), sizings = new Map(), scrollers = new Map([[document, "0 0"]]);
  const frame = () => {
    timer = later(frame, drawn++ < quick ? gap : longGap);
    for (const f of call(find, document, ["iframe[loading=lazy]"])) f.loading = "eager";
    scrolled();
    running = due;
    due = new Map();
    for (const [id, f] of running) { running.delete(id); safely(f, self, now()) }
    for (const [o, s] of [...sizings]) resized(o, s);
    clipping = new Map();
    let some = false;
    if (sights < mostSights) for (const [o, s] of [...sightings]) some = sighted(o, s) || some;
    if (some) sights++;
  };
  timer = later(frame, gap);
  for (const name of ["clearTimeout", "clearInterval"]) { // some pages clear all timers that there may be
    const clear = self[name].bind(self);
    self[name] = {[name](id) { if (id !== timer) clear(id) }}[name];
  }

  self.requestAnimationFrame = function requestAnimationFrame(f) {
    if (typeof f !== "function") throw new TypeError("The callback provided as parameter 1 is not a function.");
    due.set(++ids, f);
    return ids;
  };
  self.cancelAnimationFrame = function cancelAnimationFrame(id) { due.delete(id); running.delete(id) };

  // Scrolling. The browser tells of it at its own frames: what it tells is kept back, and told at ours. Where all is to
  // be scrolled, who listens is told though nothing moved: without style sheets a list may be too short for that.
  const place = s => s === document ? scrollX + " " + scrollY : s.scrollLeft + " " + s.scrollTop;
  const scrolled = () => {
    const all = forced;
    forced = false;
    for (const [s, before] of [...scrollers]) {
      const at = place(s);
      if (!all && at === before || !s.isConnected) continue;
      scrollers.set(s, at);
      for (const name of ["scroll", "scrollend"]) safely(s.dispatchEvent, s, new Event(name, {bubbles: s === document}));
    }
  };
  const listen = EventTarget.prototype.addEventListener;
  for (const name of ["scroll", "scrollend"]) {
    call(listen, self, [name, e => { if (e.isTrusted && scrollers.has(e.target)) e.stopImmediatePropagation() }, true]);
  }
  call(listen, document, ["whirlpool:scroll", () => { forced = true }]);
  EventTarget.prototype.addEventListener = function addEventListener(type, ...rest) {
    if ((type === "scroll" || type === "scrollend") && this instanceof Element && scrollers.size < 100 && !scrollers.has(this)) scrollers.set(this, place(this));
    return call(listen, this ?? self, [type, ...rest]);
  };

  // Elements in view.
  const box = el => { const r = el.getBoundingClientRect(); return {left: r.left, top: r.top, right: r.right, bottom: r.bottom} };
  const rect = b => b ? new DOMRect(b.left, b.top, b.right - b.left, b.bottom - b.top) : new DOMRect();
  const cut = (a, b) => {
    const c = {left: Math.max(a.left, b.left), top: Math.max(a.top, b.top), right: Math.min(a.right, b.right), bottom: Math.min(a.bottom, b.bottom)};
    return c.left <= c.right && c.top <= c.bottom ? c : null;
  };
  const area = b => b ? (b.right - b.left) * (b.bottom - b.top) : 0;
  const up = el => el.assignedSlot ?? el.parentElement ?? el.getRootNode().host;
  const clips = el => {
    if (!clipping.has(el)) clipping.set(el, el !== document.body && el !== document.documentElement && getComputedStyle(el).overflow !== "visible");
    return clipping.get(el);
  };
  const margins = text => {
    const parts = (String(text).trim() || "0px").split(/\s+/).map(p => {
      const m = /^([-+]?\d*\.?\d+)(px|%)?$/.exec(p);
      if (!m) throw new DOMException("rootMargin must be specified in pixels or percent.", "SyntaxError");
      return {n: +m[1], unit: m[2] ?? "px"};
    });
    const [top, right = top, bottom = top, left = right] = parts;
    return [top, right, bottom, left];
  };
  const within = s => {
    const b = s.root instanceof Element ? box(s.root) : {left: 0, top: 0, right: innerWidth, bottom: innerHeight};
    const px = (m, of) => m.unit === "%" ? m.n / 100 * of : m.n, w = b.right - b.left, h = b.bottom - b.top, [t, r, l, f] = s.margins;
    return {left: b.left - px(f, w), top: b.top - px(t, h), right: b.right + px(r, w), bottom: b.bottom + px(l, h)};
  };
  const seenPart = (el, s, bounds) => {
    if (!el.isConnected || !el.getClientRects().length) return null;
    let seen = box(el);
    for (let p = up(el); p && p !== s.root && seen; p = up(p)) if (clips(p)) seen = cut(seen, box(p));
    return seen && cut(seen, bounds);
  };
  const sighted = (o, s) => {
    const bounds = within(s), time = now();
    let some = false, n = 0;
    for (const [target, last] of s.targets) {
      if (n++ >= mostTargets) break;
      const seen = seenPart(target, s, bounds), whole = box(target);
      const ratio = !seen ? 0 : area(whole) ? Math.min(area(seen) / area(whole), 1) : 1;
      const above = s.thresholds.findIndex(t => t > ratio), index = !seen ? 0 : above < 0 ? s.thresholds.length : above;
      if (index === last.index && !!seen === last.seen) continue;
      some ||= !!seen;
      last.index = index;
      last.seen = !!seen;
      const own = {time, rootBounds: rect(bounds), boundingClientRect: rect(whole), intersectionRect: rect(seen), isIntersecting: !!seen,
        isVisible: false, intersectionRatio: ratio, target};
      s.queue.push(Object.create(IntersectionObserverEntry.prototype, Object.getOwnPropertyDescriptors(own)));
    }
    if (s.queue.length) safely(s.callback, o, s.queue.splice(0), o);
    return some;
  };
  const wants = el => { if (!(el instanceof Element)) throw new TypeError("parameter 1 is not of type 'Element'.") };
  const observer = (name, of, first, init) => {
    const states = new WeakMap();
    const made = {[name]: class {
      constructor(callback, options) {
        if (typeof callback !== "function") throw new TypeError("parameter 1 is not a function.");
        states.set(this, {callback, targets: new Map(), queue: [], ...init(options ?? {})});
      }
      observe(el, options) {
        wants(el);
        const s = states.get(this);
        if (!s.targets.has(el)) s.targets.set(el, first(options ?? {}));
        of.set(this, s);
      }
      unobserve(el) {
        const s = states.get(this);
        s.targets.delete(el);
        if (!s.targets.size) of.delete(this);
      }
      disconnect() { states.get(this).targets.clear(); of.delete(this) }
      takeRecords() { return states.get(this).queue.splice(0) }
    }}[name];
    // What the browser's own classes have can be enumerated: zone.js, and with it Angular, wraps what it finds so.
    for (const key of ["observe", "unobserve", "disconnect", "takeRecords"]) Object.defineProperty(made.prototype, key, {enumerable: true});
    const tell = (key, f) => Object.defineProperty(made.prototype, key, {get() { return f(states.get(this)) }, configurable: true, enumerable: true});
    Object.defineProperty(self, name, {value: made, writable: true, configurable: true});
    return tell;
  };
  const tell = observer("IntersectionObserver", sightings, () => ({index: -1, seen: false}), o => {
    const thresholds = [o.threshold ?? 0].flat().map(Number).sort((a, b) => a - b);
    if (thresholds.some(t => !(t >= 0 && t <= 1))) throw new RangeError("Threshold values must be numbers between 0.0 and 1.0");
    return {root: o.root ?? null, margins: margins(o.rootMargin ?? ""), thresholds: thresholds.length ? thresholds : [0]};
  });
  tell("root", s => s.root);
  tell("thresholds", s => [...s.thresholds]);
  for (const key of ["rootMargin", "scrollMargin"]) tell(key, s => s.margins.map(m => m.n + m.unit).join(" "));

  // The size of elements.
  const sizeOf = el => {
    if (!el.isConnected) return {content: [0, 0], border: [0, 0], left: 0, top: 0};
    if (el instanceof SVGGraphicsElement && !(el instanceof SVGSVGElement)) {
      const {width, height} = el.getBBox();
      return {content: [width, height], border: [width, height], left: 0, top: 0};
    }
    const c = getComputedStyle(el), r = el.getBoundingClientRect(), px = name => parseFloat(c[name]) || 0;
    const [t, right, b, l] = ["Top", "Right", "Bottom", "Left"].map(side => [px("padding" + side), px("border" + side + "Width")]);
    const content = [r.width - l[0] - l[1] - right[0] - right[1], r.height - t[0] - t[1] - b[0] - b[1]].map(n => Math.max(n, 0));
    return {content, border: [r.width, r.height], left: l[0], top: t[0]};
  };
  const sized = ([inlineSize, blockSize]) => [Object.create(ResizeObserverSize.prototype, Object.getOwnPropertyDescriptors({inlineSize, blockSize}))];
  const resized = (o, s) => {
    let n = 0;
    for (const [target, last] of s.targets) {
      if (n++ >= mostTargets) break;
      const size = sizeOf(target), box = size[last.box].join(" ");
      if (box === last.was) continue;
      last.was = box;
      const own = {target, contentRect: new DOMRect(size.left, size.top, ...size.content), borderBoxSize: sized(size.border),
        contentBoxSize: sized(size.content), devicePixelContentBoxSize: sized(size.content.map(Math.round))};
      s.queue.push(Object.create(ResizeObserverEntry.prototype, Object.getOwnPropertyDescriptors(own)));
    }
    if (s.queue.length) safely(s.callback, o, s.queue.splice(0), o);
  };
  observer("ResizeObserver", sizings, o => ({box: o.box === "border-box" ? "border" : "content", was: "0 0"}), () => ({}));

  // The page stays what it is: where its scripts lead is a link (requests.go). What leads away without a request would
  // take the document's place unseen: an empty document, one that scripts have put together, and the way back to what
  // the tab showed before. The entries of navigation are those of the page alone.
  const nav = self.navigation;
  if (self === top && nav) {
    call(listen, nav, ["navigate", e => {
      if (!e.destination.sameDocument && e.cancelable && /^(about|blob|data):/.test(e.destination.url)) e.preventDefault();
    }]);
    const {go} = History.prototype, within = n => !n || !!nav.entries()[nav.currentEntry.index + n];
    Object.assign(History.prototype, {
      go(n = 0) { if (within(n | 0)) call(go, this, [n | 0]) },
      back() { if (within(-1)) call(go, this, [-1]) },
      forward() { if (within(1)) call(go, this, [1]) },
    });
  }

  // What ends at a frame: animations, changes of a view, and the decoding of a picture.
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...given) {
    const a = call(animate, this, given), end = a.effect?.getComputedTiming().endTime;
    if (Number.isFinite(end)) later(() => { try { if (a.playState === "running") a.finish() } catch {} }, end);
    return a;
  };
  if (document.startViewTransition) {
    Document.prototype.startViewTransition = function startViewTransition(how) {
      const update = typeof how === "function" ? how : how?.update, done = Promise.resolve().then(() => update && update());
      return {updateCallbackDone: done, ready: done, finished: done, skipTransition() {}, types: new Set(how?.types ?? [])};
    };
  }
  HTMLImageElement.prototype.decode = function decode() {
    return new Promise((done, fail) => {
      if (this.complete) return done();
      call(listen, this, ["load", () => done(), {once: true}]);
      call(listen, this, ["error", () => fail(new DOMException("The source image cannot be decoded.", "EncodingError")), {once: true}]);
    });
  };
})

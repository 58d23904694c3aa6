// What scripts find the same in each render of a page, and what would keep them from work though nothing is amiss:
// random numbers (mulberry32), the clock, which begins with the document, and that there is a network. Callbacks for
// when the page is idle are timers: a page whose time passes at once is never idle. Service workers are registered and
// ready, and do nothing: a page that waits for its worker goes on, and asks the server. Speech is there, and says
// nothing: who takes it for granted would end with an error. Closed shadow roots are made open ones that the page does
// not see, so that their links can be read.
((seed, start) => {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6D2B79F5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  };
  Math.random = () => next() / 4294967296;
  if (self.Crypto) {
    Crypto.prototype.getRandomValues = array => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = next();
      return array;
    };
    Crypto.prototype.randomUUID = () => "10000000-1000-4000-8000-100000000000".replace(/[018]/g,
      c => (+c ^ (next() & (15 >> (+c / 4)))).toString(16));
  }
  if (start && self.performance) {
    // The browser counts from where the navigation began, by its own clock. The tab's clock is ahead of that by all the
    // time that pages before let pass, and by some that each tab has otherwise. The browser blurs the last digits.
    const Real = Date, raw = performance.now.bind(performance), zero = raw(), round = Math.round;
    const since = t => round(t - zero), now = () => start + since(raw());
    Performance.prototype.now = function () { return since(raw()) };
    const stamp = Object.getOwnPropertyDescriptor(Event.prototype, "timeStamp");
    Object.defineProperty(Event.prototype, "timeStamp", {...stamp,
      get() { return since(Reflect.apply(stamp.get, this, [])) }});
    const Fake = function Date(...given) {
      if (!new.target) return new Real(now()).toString();
      return Reflect.construct(Real, given.length ? given : [now()], new.target === Fake ? Real : new.target);
    };
    Fake.now = now;
    Fake.parse = Real.parse;
    Fake.UTC = Real.UTC;
    Fake.prototype = Real.prototype;
    Object.defineProperty(Real.prototype, "constructor", {value: Fake, writable: true, configurable: true});
    self.Date = Fake;
    Object.defineProperty(Performance.prototype, "timeOrigin", {get: () => start, configurable: true});
  }
  if (self.requestIdleCallback) {
    const later = setTimeout.bind(self), never = clearTimeout.bind(self);
    self.requestIdleCallback = f => later(() => {
      let left = 50; // milliseconds; each question takes one, so that who asks until none are left ends
      f({didTimeout: false, timeRemaining: () => left > 0 ? left-- : 0});
    }, 10);
    self.cancelIdleCallback = id => never(id);
  }
  // Nobody is there to answer whether the page may.
  if (self.Notification) Notification.requestPermission = async f => { f?.("denied"); return "denied" };
  const own = (of, props) => Object.defineProperties(of, Object.getOwnPropertyDescriptors(props));
  if (self.document && !self.speechSynthesis) {
    const value = own(new EventTarget(), {speaking: false, pending: false, paused: false, onvoiceschanged: null,
      getVoices: () => [], speak() {}, cancel() {}, pause() {}, resume() {}});
    Object.defineProperty(self, "speechSynthesis", {value, configurable: true, enumerable: true});
    self.SpeechSynthesisUtterance = class SpeechSynthesisUtterance extends EventTarget {
      constructor(text = "") { super(); Object.assign(this, {text: String(text), lang: "", voice: null, volume: 1, rate: 1, pitch: 1}) }
    };
  }
  if (self.MediaDevices) MediaDevices.prototype.enumerateDevices = async () => [];
  for (const of of [self.Navigator, self.WorkerNavigator]) {
    if (of) Object.defineProperty(of.prototype, "onLine", {get: () => true, configurable: true});
  }
  if (self.ServiceWorkerContainer) {
    const all = new Map();
    const quiet = props => own(new EventTarget(), {postMessage() {}, ...props});
    const tags = {register: async () => {}, unregister: async () => {}, getTags: async () => []};
    const pushManager = {getSubscription: async () => null, permissionState: async () => "denied",
      subscribe: async () => { throw new DOMException("Registration failed - permission denied", "NotAllowedError") }};
    let ready, tell, active = null;
    ready = new Promise(done => { tell = done });
    const register = async (url, options) => {
      const at = new URL(url, document.baseURI), scope = new URL(options?.scope ?? ".", options?.scope ? document.baseURI : at).href;
      if (at.origin !== location.origin) throw new DOMException("The origin of the script is another.", "SecurityError");
      if (!all.has(scope)) {
        const worker = quiet({scriptURL: at.href, state: "activated", onstatechange: null, onerror: null});
        const made = quiet({scope, active: worker, installing: null, waiting: null, onupdatefound: null, updateViaCache: "imports",
          update: async () => made, unregister: async () => all.delete(scope), getNotifications: async () => [], showNotification: async () => {},
          pushManager, sync: tags, periodicSync: tags,
          navigationPreload: {enable: async () => {}, disable: async () => {}, setHeaderValue: async () => {}, getState: async () => ({enabled: false})}});
        all.set(scope, made);
        active ??= worker;
        tell(made);
      }
      return all.get(scope);
    };
    const scopeOf = url => [...all.keys()].find(s => new URL(url ?? "", document.baseURI).href.startsWith(s));
    own(ServiceWorkerContainer.prototype, {get ready() { return ready }, get controller() { return active }, register,
      getRegistration: async url => all.get(scopeOf(url)), getRegistrations: async () => [...all.values()], startMessages() {}});
  }
  if (!self.Element) return;
  const attach = Element.prototype.attachShadow, closed = new WeakSet();
  const root = Object.getOwnPropertyDescriptor(Element.prototype, "shadowRoot");
  const add = WeakSet.prototype.add.bind(closed), has = WeakSet.prototype.has.bind(closed), call = Reflect.apply;
  Element.prototype.attachShadow = function attachShadow(init) {
    if (!init || init.mode !== "closed") return call(attach, this, arguments);
    const made = call(attach, this, [{...init, mode: "open"}]);
    add(this);
    return made;
  };
  Object.defineProperty(Element.prototype, "shadowRoot", {configurable: true, enumerable: true,
    get() { return has(this) ? null : call(root.get, this, []) }});
})

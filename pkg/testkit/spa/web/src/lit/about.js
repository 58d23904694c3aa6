customElements.define("x-about", class extends HTMLElement {
  connectedCallback() {
    this.attachShadow({mode: "closed"}).innerHTML = `<a href="/leaf/team">Team</a> <a href="/leaf/imprint">Imprint</a>`;
  }
});

export default {template: `<section><h1>About</h1><router-link to="/leaf/team">Team</router-link> <router-link to="/leaf/imprint">Imprint</router-link></section>`};

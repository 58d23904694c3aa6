import {Link} from "react-router-dom";

export default () => <section><h1>About</h1><Link to="/leaf/team">Team</Link> <Link to="/leaf/imprint">Imprint</Link></section>;

export default show => show([["/leaf/team", "Team"], ["/leaf/imprint", "Imprint"]]);

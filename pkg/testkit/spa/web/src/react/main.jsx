import {StrictMode, Suspense, lazy, useEffect, useState} from "react";
import {createRoot} from "react-dom/client";
import {BrowserRouter, Link, Route, Routes, useParams} from "react-router-dom";
import {item, items} from "../shared/api.js";

const About = lazy(() => import("./about.jsx"));
const Feed = lazy(() => import("./feed.jsx"));

function useData(load, key) {
  const [data, set] = useState(null);
  useEffect(() => {
    let on = true;
    load().then(d => on && set(d));
    return () => { on = false };
  }, [key]);
  return data;
}

const Home = () => <nav><Link to="/list">List</Link> <Link to="/about">About</Link> <Link to="/feed">Feed</Link></nav>;

function List() {
  const data = useData(items, "");
  return data ? <ul>{data.map(n => <li key={n}><Link to={`/item/${n}`}>Item {n}</Link></li>)}</ul> : <p>Loading …</p>;
}

function Item() {
  const {n} = useParams();
  const data = useData(() => item(n), n);
  return data ? <article><h1>{data.title}</h1>{data.pages.map(p => <Link key={p} to={p}>{p}</Link>)}</article> : <p>Loading …</p>;
}

createRoot(document.getElementById("root")).render(<StrictMode><BrowserRouter><Suspense fallback={<p>Loading …</p>}><Routes>
  <Route path="/" element={<Home/>}/><Route path="/list" element={<List/>}/><Route path="/item/:n" element={<Item/>}/>
  <Route path="/about" element={<About/>}/><Route path="/feed" element={<Feed/>}/>
</Routes></Suspense></BrowserRouter></StrictMode>);

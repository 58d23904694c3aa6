import {useEffect, useRef, useState} from "react";
import {Link} from "react-router-dom";
import {posts} from "../shared/api.js";

export default function Feed() {
  const [list, set] = useState([]), end = useRef(null), page = useRef(0);
  useEffect(() => {
    const seen = new IntersectionObserver(async ([e]) => {
      if (!e.isIntersecting || page.current >= 2) return;
      const more = await posts(++page.current);
      set(l => [...l, ...more]);
    });
    seen.observe(end.current);
    return () => seen.disconnect();
  }, []);
  return <div>{list.map(n => <p key={n} style={{height: 900}}><Link to={`/leaf/post-${n}`}>Post {n}</Link></p>)}<div ref={end}>…</div></div>;
}

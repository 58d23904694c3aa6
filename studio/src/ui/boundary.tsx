import { Component, useCallback, useEffect, useState, type ReactNode } from "react";

interface State {
  fault: Error | null;
}

/** Catches what goes wrong in a page, so that the rest of the studio stays. */
export class Boundary extends Component<{ children: ReactNode; at: string }, State> {
  override state: State = { fault: null };

  static getDerivedStateFromError(fault: Error): State {
    return { fault };
  }

  override componentDidUpdate(before: { at: string }) {
    if (before.at !== this.props.at && this.state.fault) this.setState({ fault: null });
  }

  override render() {
    if (!this.state.fault) return this.props.children;
    if (/import.*module|module.*import|unable to preload/i.test(this.state.fault.message)) return <NotLoaded />;
    return (
      <div className="notice bad" role="alert">
        <div className="body">
          <strong>This page has a fault.</strong>
          <div className="muted">
            Nothing is lost: the crawl goes on. Please report it: <code>{String(this.state.fault.message)}</code>
          </div>
        </div>
        <button type="button" onClick={() => this.setState({ fault: null })}>
          Try again
        </button>
      </div>
    );
  }
}

/**
 * The program of a page did not come: the server is away, or another version of it is there. It takes a load to get it,
 * which is made as soon as a server that was away answers. One that answers at once would be asked for ever.
 */
function NotLoaded() {
  const [away, setAway] = useState(false);
  const load = useCallback((wanted: boolean) => {
    fetch(location.href, { method: "HEAD", cache: "no-store" }).then(
      () => wanted && location.reload(),
      () => setAway(true),
    );
  }, []);
  useEffect(() => {
    if (!away) return load(false);
    const timer = setInterval(() => load(true), 3000);
    return () => clearInterval(timer);
  }, [away, load]);
  return (
    <div className="notice bad" role="alert">
      <div className="body">
        <strong>This page could not be loaded</strong>
        <div className="muted">
          {away ? "Whirlpool does not answer. Is `whirlpool serve` still running? The page comes when it does." : "Whirlpool did not answer, or is another version since."} What it has stored is safe.
        </div>
      </div>
      <button type="button" onClick={() => load(true)}>
        Load again
      </button>
    </div>
  );
}

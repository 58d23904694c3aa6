import { Component, useState, type ReactNode } from "react";

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
    if (/import/i.test(this.state.fault.message) && /module/i.test(this.state.fault.message)) return <NotLoaded />;
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

/** The program of a page did not come: the server is away, or another version of it is there. It takes a load to get it. */
function NotLoaded() {
  const [away, setAway] = useState(false);
  const load = () => fetch(location.href, { method: "HEAD" }).then(() => location.reload(), () => setAway(true));
  return (
    <div className="notice bad" role="alert">
      <div className="body">
        <strong>This page could not be loaded</strong>
        <div className="muted">
          {away ? "Whirlpool does not answer yet. Is `whirlpool serve` still running?" : "Whirlpool did not answer, or is another version since."} What it has stored is safe.
        </div>
      </div>
      <button type="button" onClick={() => void load()}>
        Load again
      </button>
    </div>
  );
}

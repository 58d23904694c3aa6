import { Component, type ReactNode } from "react";

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

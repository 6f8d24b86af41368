/** Something that a gateway serves, for whoever wants to know: `GET /healthz`, and what it is there for. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  readonly serves: string;
}

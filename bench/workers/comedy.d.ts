/** What of comedy is used: it has no types of its own. */
declare module 'comedy' {
  export interface ComedyActor {
    createChild(
      module: string,
      options: { mode: 'threaded'; customParameters: Readonly<Record<string, unknown>> },
    ): Promise<ComedyActor>;
    send(topic: string, message: unknown): Promise<void>;
    sendAndReceive(topic: string, message: unknown): Promise<unknown>;
    getCustomParameters(): Readonly<Record<string, unknown>>;
  }
  function comedy(options: { config: object; test: boolean }): { rootActor(): Promise<ComedyActor> };
  export { comedy as default };
}

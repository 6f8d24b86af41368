/** What makes vectors of texts: texts of like meaning get vectors of like direction. */
export interface Embedder {
  /** Its name: vectors of different models cannot be compared. */
  readonly model: string;
  /** How many numbers its vectors have; undefined until the first is there. */
  readonly dimensions: number | undefined;
  /**
   * The vector of each text; one of zeros for a text that says nothing. Fails with REMOTE_UNREACHABLE or REMOTE_FAILED where the
   * model is elsewhere, with what `ctx.offload` fails with where it is here, and with the reason of the signal.
   */
  embed(texts: readonly string[], signal?: AbortSignal): Promise<readonly Float32Array[]>;
}

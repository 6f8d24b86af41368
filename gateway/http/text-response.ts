const METHODS = ['arrayBuffer', 'blob', 'bytes', 'clone', 'formData', 'json', 'text'] as const;

/**
 * An answer of a text that is known whole. Whoever sends it may ask for the text; for anybody else it is the answer that
 * `new Response(text)` is, which is made when it is read, because to make one costs as much as to answer.
 */
class TextResponse extends Response {
  readonly #text: string;
  #read: Response | undefined;

  constructor(text: string, init: ResponseInit) {
    super(null, init);
    this.#text = text;
  }

  /** Undefined when somebody reads it already. */
  get unread(): string | undefined {
    return this.#read === undefined ? this.#text : undefined;
  }

  #asRead(): Response {
    this.#read ??= new Response(this.#text, this);
    return this.#read;
  }

  static {
    // To the types these are properties of every response, which a class cannot override with accessors.
    for (const name of ['body', 'bodyUsed'] as const)
      Object.defineProperty(TextResponse.prototype, name, {
        get(this: TextResponse) {
          return this.#asRead()[name];
        },
      });
    for (const name of METHODS)
      Object.defineProperty(TextResponse.prototype, name, {
        value(this: TextResponse) {
          return this.#asRead()[name]();
        },
      });
  }
}

/** Throws TypeError as `Response` does. */
export const textResponse = (text: string, init: ResponseInit): Response => new TextResponse(text, init);

/** The text of an answer that nobody reads otherwise; undefined where it is not known. */
export const textOf = (response: Response): string | undefined =>
  response instanceof TextResponse ? response.unread : undefined;

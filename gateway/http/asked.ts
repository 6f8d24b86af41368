import type { EdgeRequest } from '../../runtime/protocol/admission.ts';
import type { Body } from './body.ts';

/** A request that is to be let in. Its bytes are put together only for those who look at them. */
export class Asked implements EdgeRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: EdgeRequest['headers'];
  readonly address: string | undefined;
  readonly #body: Body;

  constructor({ method, url, headers, address }: Omit<EdgeRequest, 'body'>, body: Body) {
    this.method = method;
    this.url = url;
    this.headers = headers;
    this.address = address;
    this.#body = body;
  }

  get body(): Uint8Array {
    return this.#body.bytes;
  }
}

import type { OfferedTemplate } from '../../runtime/protocol/tool-service.ts';
import { UriTemplate } from '../../runtime/protocol/uri-template.ts';

/**
 * Says which URIs are of an agent's template. One with expressions that are not understood here, such as an agent may pass on
 * from a server elsewhere, takes every URI that begins as it does: the agent knows better.
 */
export class TemplateRoute {
  readonly agentId: string;
  readonly #template: UriTemplate | undefined;
  readonly #prefix: string;

  constructor({ agentId, uriTemplate }: OfferedTemplate) {
    this.agentId = agentId;
    this.#prefix = uriTemplate.split('{', 1)[0] as string;
    this.#template = templateOf(uriTemplate);
  }

  fits(uri: string): boolean {
    if (this.#template !== undefined) return this.#template.match(uri) !== undefined;
    return this.#prefix !== '' && uri.startsWith(this.#prefix);
  }
}

function templateOf(uriTemplate: string): UriTemplate | undefined {
  try {
    return new UriTemplate(uriTemplate);
  } catch {
    return undefined;
  }
}

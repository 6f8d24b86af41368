import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { ToolService } from '../../../runtime/protocol/tool-service.ts';
import type { ServedTeam } from '../../team/served-team.ts';
import type { ParsedMcpOptions } from './mcp-options.ts';
import { View } from './view.ts';

const MOST_VIEWS = 200;

export interface CatalogueDeps {
  readonly tools: ToolService;
  readonly options: ParsedMcpOptions;
  /** The team, which knows which agents are served. */
  readonly team: Pick<ServedTeam, 'card' | 'revision'>;
}

/** The views of callers. Callers who see the same share a view, until something changes. */
export class Catalogue {
  readonly #deps: CatalogueDeps;
  readonly #views = new Map<string, View>();
  #lists: readonly unknown[] = [];

  constructor(deps: CatalogueDeps) {
    this.#deps = deps;
  }

  viewOf(principal: Principal): View {
    this.#forgetOld();
    const { options } = this.#deps;
    const isReadOnly = mayOnlyRead(options, principal);
    const key = options.visible === undefined ? String(isReadOnly) : keyOf(principal, isReadOnly);
    const known = this.#views.get(key);
    if (known !== undefined) return known;
    if (this.#views.size >= MOST_VIEWS) this.#views.delete(this.#views.keys().next().value as string);
    const view = this.#make(principal, isReadOnly);
    this.#views.set(key, view);
    return view;
  }

  #make(principal: Principal, isReadOnly: boolean): View {
    const { tools, options, team } = this.#deps;
    return new View(
      tools,
      options,
      (offered) =>
        team.card(offered.agentId) !== undefined &&
        (offered.kind !== 'tool' || !isReadOnly || offered.annotations?.readOnly === true) &&
        (options.visible?.(principal, offered) ?? true),
    );
  }

  /** Drops all views when a list has changed: the service makes a new array for each change. */
  #forgetOld(): void {
    const { tools, team } = this.#deps;
    const now = [tools.tools(), tools.resources(), tools.templates(), tools.prompts(), team.revision];
    if (now.every((list, at) => list === this.#lists[at])) return;
    this.#lists = now;
    this.#views.clear();
  }
}

export const mayOnlyRead = ({ readOnly }: ParsedMcpOptions, principal: Principal): boolean =>
  typeof readOnly === 'function' ? readOnly(principal) : readOnly;

/** The key of a caller's view: all fields of a principal that `visible` may depend on. */
const keyOf = ({ id, kind, tenant, roles, tier, trust }: Principal, isReadOnly: boolean): string =>
  JSON.stringify([isReadOnly, id, kind, tenant, roles, tier, trust]);

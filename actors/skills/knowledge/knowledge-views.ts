import type { SkillStore } from '../store/skill-store.ts';
import { KnowledgeView } from './knowledge-view.ts';

/** How many tenants' knowledge is held at a time. */
const MOST_VIEWS = 100;

/** The views of the tenants that were asked for last. */
export class KnowledgeViews {
  readonly #store: SkillStore;
  readonly #most: number;
  /** The one that was used last is the last. */
  readonly #views = new Map<string, KnowledgeView>();

  constructor(store: SkillStore, most = MOST_VIEWS) {
    this.#store = store;
    this.#most = most;
  }

  /** What `use` makes of all that a tenant knows by now. */
  use<Result>(tenant: string, use: (view: KnowledgeView) => Result): Promise<Result> {
    const view = this.#views.get(tenant) ?? new KnowledgeView(this.#store, tenant);
    this.#views.delete(tenant);
    this.#views.set(tenant, view);
    const [oldest] = this.#views.keys();
    if (this.#views.size > this.#most && oldest !== undefined) this.#views.delete(oldest);
    return view.use(use);
  }
}

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CallOutcome, SkillUser } from '../fixtures/skills/doors.ts';
import { isPostgresMissing } from '../fixtures/skills/postgres-database.ts';
import { SkillTeam } from '../fixtures/skills/skill-team.ts';

/** Thousands of calls, each of several transactions. */
const PATIENCE_MS = 900_000;
const TENANTS = 3;
const WORDS = ['gateway', 'port', 'build', 'release', 'plum', 'rule', "o'clock", '%'];

/** What a user of a tenant does. `of` names an id that any tenant has been given, by when that was. */
interface Deed {
  readonly tenant: number;
  readonly user: number;
  readonly door: number;
  readonly tool: string;
  readonly words: readonly string[];
  readonly layer: string;
  readonly of: number;
}

const deed: fc.Arbitrary<Deed> = fc.record({
  tenant: fc.nat(TENANTS - 1),
  user: fc.nat(1),
  door: fc.nat(SkillTeam.doorNames.length - 1),
  tool: fc.constantFrom(
    ...['memory_add', 'memory_add', 'memory_add', 'memory_search', 'memory_search', 'memory_get'],
    ...['memory_list', 'memory_update', 'memory_delete', 'memory_export'],
    ...['knowledge_add', 'knowledge_query', 'knowledge_show', 'knowledge_check', 'knowledge_remove'],
    ...['governance_policy_put', 'governance_policy_list', 'governance_validate', 'governance_policy_remove'],
  ),
  words: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 5 }),
  layer: fc.constantFrom('user', 'session', 'project', 'team', 'company'),
  of: fc.nat(20),
});

function argumentsOf({ tool, words, layer }: Deed, id: string): object {
  const text = words.join(' ');
  switch (tool) {
    case 'memory_add':
      return { content: text, layer, scope: 'here', subject: words[0], tags: [words.at(-1)] };
    case 'memory_search':
      return { query: text };
    case 'memory_get':
    case 'memory_delete':
      return { memory_id: id };
    case 'memory_update':
      return { memory_id: id, content: text };
    case 'knowledge_add':
      return { type: 'adr', title: text, content: text, status: 'accepted', constraints: [rule(words)] };
    case 'knowledge_query':
      return { query: text };
    case 'knowledge_show':
    case 'knowledge_remove':
      return { id };
    case 'knowledge_check':
      return { files: [{ path: 'a.ts', content: text }], minSeverity: 'info' };
    case 'governance_policy_put':
      return { policy: { id: words[0], name: text, layer: 'project', rules: [{ id: 'r', ...rule(words) }] } };
    case 'governance_policy_remove':
      return { policyId: words[0] };
    case 'governance_validate':
      return { context: { files: [{ path: 'a.ts', content: text }] } };
    default:
      return {};
  }
}

const rule = ([word = '']: readonly string[]) => ({ target: 'code', operator: 'MustNotExist', value: word });

let run = 0;

/** The tenants of one run, new to the team, and what each deed of theirs comes to, in words that are the same in every world. */
class World {
  readonly #team: SkillTeam;
  readonly #users: readonly (readonly SkillUser[])[];
  readonly #ids: string[] = [];
  /** For each tenant, the ids that it was given, in that order. */
  readonly #own: readonly string[][];

  constructor(team: SkillTeam) {
    run += 1;
    this.#team = team;
    this.#own = Array.from({ length: TENANTS }, () => []);
    this.#users = this.#own.map((_, at) => [
      team.user(`t${run}-${at}`, 'admin'),
      team.user(`t${run}-${at}`, 'developer'),
    ]);
  }

  /** Whose an id is, and the how-manieth of it; what it has of nobody is another tenant's. */
  async does(deed: Deed, target: { readonly own: number } | 'foreign'): Promise<string> {
    const own = this.#own[deed.tenant] as string[];
    const foreign = this.#ids.find((id) => !own.includes(id)) ?? NOBODYS;
    const id = target === 'foreign' ? foreign : (own[target.own] ?? NOBODYS);
    const user = this.#users[deed.tenant]?.[deed.user] as SkillUser;
    const door = this.#team.doors[deed.door % this.#team.doors.length];
    if (door === undefined) throw new Error('no door');
    const outcome = await door.call(user, deed.tool, argumentsOf(deed, id));
    this.#learn(own, outcome);
    return this.#told(deed.tenant, outcome, id);
  }

  /** How many a tenant was given. */
  count(tenant: number): number {
    return this.#own[tenant]?.length ?? 0;
  }

  #learn(own: string[], outcome: CallOutcome): void {
    if (outcome.kind !== 'done') return;
    const { memory_id, duplicate, id, message } = outcome.output;
    const made = duplicate === false ? memory_id : message === undefined ? undefined : id;
    if (made === undefined || own.includes(made)) return;
    own.push(made);
    this.#ids.push(made);
  }

  #told(tenant: number, outcome: CallOutcome, asked: string): string {
    const own = this.#own[tenant] as string[];
    const authors = (this.#users[tenant] ?? []).map(({ id }) => id);
    const said = outcome.kind === 'question' ? { kind: outcome.kind, question: outcome.question } : outcome;
    let text = JSON.stringify(said, (key, value) =>
      /^(createdAt|updatedAt|writtenAt|next)$/.test(key) ? 0 : value,
    );
    text = text.replaceAll(asked, own.includes(asked) ? `#${own.indexOf(asked)}` : 'ASKED');
    for (const [at, id] of own.entries()) text = text.replaceAll(id, `#${at}`);
    for (const [at, id] of authors.entries()) text = text.replaceAll(id, `user ${at}`);
    return text;
  }
}

const NOBODYS = 'AAAAAAAAAAAAAAAAAAAAAA';

describe.each(['sqlite', 'postgres'] as const)('Tenants of one store: %s', (store) => {
  describe.skipIf(store === 'postgres' && isPostgresMissing)('where there is one', () => {
    let shared: SkillTeam;
    let alone: SkillTeam;
    beforeAll(async () => {
      shared = await SkillTeam.start({ store });
      alone = await SkillTeam.start({ store });
    });
    afterAll(async () => {
      await shared[Symbol.asyncDispose]();
      await alone[Symbol.asyncDispose]();
    });

    it(
      'are told by every door what they would be told if there were no others: of data, ids, counts and scores (A-05)',
      async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(deed, { minLength: 4, maxLength: 16 }), async (deeds) => {
            const together = new World(shared);
            const told: { deed: Deed; target: { own: number } | 'foreign'; said: string }[] = [];
            for (const one of deeds) {
              const target =
                one.of % 3 === 0 ? 'foreign' : { own: one.of % Math.max(1, together.count(one.tenant)) };
              told.push({ deed: one, target, said: await together.does(one, target) });
            }
            for (let tenant = 0; tenant < TENANTS; tenant++) {
              const solo = new World(alone);
              for (const { deed: one, target, said } of told)
                if (one.tenant === tenant) expect(await solo.does(one, target)).toBe(said);
            }
          }),
          { numRuns: 100 },
        );
      },
      PATIENCE_MS,
    );
  });
});

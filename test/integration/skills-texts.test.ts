import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Door, SkillUser } from '../fixtures/skills/doors.ts';
import { isPostgresMissing } from '../fixtures/skills/postgres-database.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';

const RULE = { id: 'r', target: 'code', operator: 'MustNotUse', value: 'rope' };
const POLICY = { id: 'p', name: 'P', layer: 'project', scope: 'shop', rules: [RULE] };
const ITEM = { type: 'adr', title: 'Ropes', content: 'Ropes are blue', status: 'accepted' };
const SUPPRESSION = { policyId: 'p', reason: 'Soon', expiresAt: 8e15 };

/** Calls in which a text stands where it may be kept, or looked for, and the field that it is in. */
const calls = (text: string): [tool: string, args: object, field: string][] => [
  ['knowledge_add', { ...ITEM, title: text }, 'title'],
  ['knowledge_add', { ...ITEM, content: text }, 'content'],
  ['knowledge_add', { ...ITEM, scope: text }, 'scope'],
  ['knowledge_add', { ...ITEM, tags: [text] }, 'tags[0]'],
  ['knowledge_add', { ...ITEM, constraints: [{ ...RULE, id: 'c', value: text }] }, 'value'],
  ['knowledge_query', { scope: text }, 'scope'],
  ['knowledge_show', { id: text }, 'id'],
  ['knowledge_status', { id: text, status: 'accepted' }, 'id'],
  ['knowledge_promote', { id: text, toLayer: 'team' }, 'id'],
  ['knowledge_remove', { id: text }, 'id'],
  ['knowledge_check', { files: [], knowledgeItemIds: [text] }, 'knowledgeItemIds[0]'],
  ['knowledge_sync', { source: text }, 'source'],
  ['governance_policy_put', { policy: { ...POLICY, name: text } }, 'policy.name'],
  ['governance_policy_put', { policy: { ...POLICY, description: text } }, 'policy.description'],
  ['governance_policy_put', { policy: { ...POLICY, scope: text } }, 'policy.scope'],
  ['governance_policy_put', { policy: { ...POLICY, rules: [{ ...RULE, id: text }] } }, 'policy.rules[0].id'],
  ['governance_policy_list', { scope: text }, 'scope'],
  ['governance_policy_show', { policyId: 'p', scope: text }, 'scope'],
  ['governance_policy_remove', { policyId: 'p', scope: text }, 'scope'],
  ['governance_validate', { context: {}, scopes: { team: text } }, 'scopes.team'],
  ['governance_drift_check', { project: text, context: {} }, 'project'],
  ['governance_drift_list', { project: text }, 'project'],
  ['governance_suppress', { ...SUPPRESSION, reason: text }, 'reason'],
  ['governance_suppress', { ...SUPPRESSION, ruleId: text }, 'ruleId'],
  ['governance_suppress', { ...SUPPRESSION, messagePattern: text }, 'messagePattern'],
  ['governance_unsuppress', { suppressionId: text }, 'suppressionId'],
];

describe.each(['sqlite', 'postgres'] as const)('Texts of knowledge and governance in %s', (store) => {
  describe.skipIf(store === 'postgres' && isPostgresMissing)('With a server', () => {
    let team: SkillTeam;
    let door: Door;
    let chief: SkillUser;
    beforeAll(async () => {
      team = await SkillTeam.start({ store });
      door = team.door('envelopes');
      chief = team.user('acme', 'admin');
      outputOf(await door.call(chief, 'governance_policy_put', { policy: POLICY }));
    });
    afterAll(() => team[Symbol.asyncDispose]());

    it.each(['a\0b', 'a\ud800', '\udc00b'])(
      'are refused where no store keeps them, with the field: %j (A-20)',
      async (text) => {
        for (const [tool, args, field] of calls(text)) {
          const outcome = await door.call(chief, tool, args);
          expect([tool, outcome]).toEqual([
            tool,
            { kind: 'failed', code: 'INVALID_PAYLOAD', message: expect.stringContaining(`${field} is `) },
          ]);
        }
      },
    );

    it.each(['a b', '😀 ü \u{10ffff}', "' or 1=1 --"])(
      'are kept, or not found, as they are otherwise: %j',
      async (text) => {
        for (const [tool, args, field] of calls(text)) {
          const outcome = await door.call(chief, tool, args);
          const code = outcome.kind === 'failed' ? outcome.code : 'none';
          expect([tool, field, code, outcome]).toEqual([
            tool,
            field,
            expect.stringMatching(/^(none|REFUSED)$/),
            outcome,
          ]);
        }
      },
    );
  });
});

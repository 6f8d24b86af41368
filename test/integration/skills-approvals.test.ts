import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { CallOutcome, Door, SkillUser } from '../fixtures/skills/doors.ts';
import { mcpTaskDoor } from '../fixtures/skills/mcp-task-door.ts';
import { outputOf, SkillTeam } from '../fixtures/skills/skill-team.ts';

/** A promotion that somebody is asked about. */
type Asked = Extract<CallOutcome, { kind: 'question' }>;

let team: SkillTeam;
beforeAll(async () => {
  team = await SkillTeam.start({ mcpTasks: () => 'preferred' });
});
afterAll(() => team[Symbol.asyncDispose]());

const ADR = { type: 'adr', title: 'One queue', content: 'Because of its order.', status: 'accepted' };
const QUESTION = 'Have the adr "One queue" hold for the layer company?';

describe.each([...SkillTeam.doorNames, 'MCP as a task'])('A promotion by %s', (name) => {
  let door: Door;
  let chief: SkillUser;
  let developer: SkillUser;
  const done = async (...call: Parameters<Door['call']>) => outputOf(await door.call(...call));
  const promoted = async () => (await done(chief, 'knowledge_query', { layer: 'company' })).items;
  /** Keeps something, asks for its promotion, and says what is asked. */
  const asked = async (): Promise<Asked & { readonly id: string }> => {
    const { id } = await done(chief, 'knowledge_add', ADR);
    const outcome = await door.call(chief, 'knowledge_promote', { id, toLayer: 'company' });
    if (outcome.kind !== 'question') throw new Error(JSON.stringify(outcome));
    return { ...outcome, id };
  };
  beforeAll(() => {
    door = name === 'MCP as a task' ? mcpTaskDoor(team) : team.door(name);
  });
  beforeEach(() => {
    chief = team.user(`acme by ${name}`, 'admin');
    developer = team.user(`acme by ${name}`, 'developer');
  });
  afterEach(async () => {
    for (const { id } of await promoted()) await done(chief, 'knowledge_remove', { id });
  });

  it('asks what is to hold where, and does it once that is approved (A-09, C-24)', async () => {
    const { question, ticket, id } = await asked();
    expect(question).toContain(QUESTION);
    expect(ticket.asked).toHaveLength(1);
    expect(await promoted()).toEqual([]);
    const made = outputOf(await door.decide(chief, ticket, true));
    expect(made).toMatchObject({ layer: 'company', status: 'accepted', promotedFrom: id });
    expect(await promoted()).toMatchObject([{ id: made.id, title: 'One queue' }]);
    expect(await done(chief, 'knowledge_promote', { id, toLayer: 'company' })).toMatchObject({ id: made.id });
  });

  it('does nothing once that is refused (C-24)', async () => {
    const { ticket } = await asked();
    expect(await door.decide(chief, ticket, false)).toEqual({
      kind: 'failed',
      code: 'UNAUTHORIZED',
      message: '"knowledge.promote" was not approved',
    });
    expect(await promoted()).toEqual([]);
  });

  it('is approved by nobody who may not: another caller, another tenant, one whose role was taken (A-05, A-06, C-24)', async () => {
    expect(await door.call(developer, 'knowledge_promote', { ...(await asked()).ticket.args })).toMatchObject(
      {
        kind: 'failed',
        code: 'UNAUTHORIZED',
        message:
          "To promote knowledge to the layer company takes the role admin, and the caller's is developer",
      },
    );
    const { ticket } = await asked();
    for (const other of [developer, team.user(`evil by ${name}`, 'admin')])
      expect((await door.decide(other, ticket, true)).kind).toBe('failed');
    const former = team.regrade(chief, 'developer');
    expect(await door.decide(former, ticket, true)).toMatchObject({ kind: 'failed', code: 'UNAUTHORIZED' });
    team.regrade(chief, 'admin');
    expect(await promoted()).toEqual([]);
  });

  it('is not done with an approval of what does not hold any more', async () => {
    const { ticket, id } = await asked();
    await done(chief, 'knowledge_status', { id, status: 'deprecated' });
    expect(await door.decide(chief, ticket, true)).toEqual({
      kind: 'failed',
      code: 'REFUSED',
      message: `The knowledge item "${id}" is deprecated: only what is accepted is promoted`,
    });
    expect(await promoted()).toEqual([]);
  });
});

describe('A promotion where the team has somebody who approves', () => {
  it('is decided there, whichever door it comes by, and asks nobody else (C-24)', async () => {
    const requests: unknown[] = [];
    await using own = await SkillTeam.start({
      approver: ({ action, details }) => {
        requests.push(action);
        const { toLayer } = details as { readonly toLayer: string };
        return { approved: toLayer === 'org', reason: 'not on Sundays' };
      },
    });
    const chief = own.user('acme', 'admin');
    for (const door of own.doors) {
      const { id } = outputOf(await door.call(chief, 'knowledge_add', ADR));
      expect(await door.call(chief, 'knowledge_promote', { id, toLayer: 'org' })).toMatchObject({
        kind: 'done',
        output: { layer: 'org' },
      });
      expect(await door.call(chief, 'knowledge_promote', { id, toLayer: 'company' })).toEqual({
        kind: 'failed',
        code: 'UNAUTHORIZED',
        message: '"knowledge.promote" was not approved: not on Sundays',
      });
    }
    expect(requests).toEqual(own.doors.flatMap(() => ['knowledge.promote', 'knowledge.promote']));
  });
});

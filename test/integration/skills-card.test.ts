import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SkillTeam } from '../fixtures/skills/skill-team.ts';

let team: SkillTeam;
beforeAll(async () => {
  team = await SkillTeam.start();
});
afterAll(() => team[Symbol.asyncDispose]());

interface Card {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly capabilities: object;
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  readonly skills: readonly { readonly id: string; readonly tags: readonly string[] }[];
}

describe('The card of a team with the skills', () => {
  it('lists memory, knowledge and governance with their tools, and how to authenticate (A-02)', async () => {
    const card = (await (await fetch(`${team.url}/.well-known/agent.json`)).json()) as Card;
    expect(card).toMatchObject({
      name: expect.any(String),
      description: expect.any(String),
      version: expect.any(String),
      capabilities: { streaming: true },
      securitySchemes: { ApiKey: expect.anything() },
    });
    const toolsOf = (agent: string) =>
      card.skills.filter(({ tags }) => tags.includes(agent)).map(({ id }) => id);
    expect(toolsOf('memory')).toEqual(
      expect.arrayContaining(['memory_add', 'memory_search', 'memory_delete']),
    );
    expect(toolsOf('knowledge')).toEqual(
      expect.arrayContaining(['knowledge_query', 'knowledge_show', 'knowledge_check']),
    );
    expect(toolsOf('governance')).toEqual(
      expect.arrayContaining(['governance_validate', 'governance_drift_check']),
    );
  });
});

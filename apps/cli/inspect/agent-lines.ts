import { table } from '@orrery/ralph-loop';
import { type AgentScene, type Scene, shownText, sinceStart } from '@orrery/visualiser/model';
import { agentCard } from '../agent-card.ts';
import type { AgentStory, StoryLine } from './agent-story.ts';

/** Who an agent is, how it stood at the end, and what happened to it. */
export function agentStoryLines(agent: Readonly<AgentScene>, story: AgentStory, scene: Scene): string[] {
  const { startedAtMs } = scene;
  const rows = (lines: readonly StoryLine[]): string[] =>
    table(
      lines.map(({ atMs, text, isBad }) => [
        sinceStart(atMs, startedAtMs),
        isBad ? 'x' : '',
        shownText(text, 400),
      ]),
      '  ',
    );
  const { first, last, leftOut } = story;
  return [
    ...agentCard(agent, scene),
    '',
    first.length === 0 ? 'Nothing was heard of what it did' : 'What it did, and what happened to it',
    ...rows(first),
    ...(leftOut > 0 ? [`  ... ${leftOut} more`] : []),
    ...rows(last),
  ];
}

import type { TaskNegotiatorOptions } from '../../../../actors/negotiator/task-negotiator.ts';
import { negotiatingTeam, sun, worker } from './negotiating-team.ts';
import { KeptTexts, NegotiatorLives } from './negotiator-lives.ts';

/** Agents around one router; those that `lives` makes outlive their negotiators. */
export function durableTeam(...ids: string[]) {
  const team = negotiatingTeam([sun, ...ids.map((id) => worker(id))]);
  const { events, portOf } = team;
  const lives = (
    agentId: string,
    options: Partial<TaskNegotiatorOptions> & { kept?: KeptTexts | undefined; capacity?: number } = {},
  ) =>
    new NegotiatorLives({
      port: portOf(agentId),
      onEvent: (event) => events.push(event),
      kept: new KeptTexts(),
      ...options,
    } as ConstructorParameters<typeof NegotiatorLives>[0]);
  return { ...team, lives };
}

/** The one proposal that is open. */
export const idOf = ({ current }: NegotiatorLives): string => {
  const [{ proposalId } = { proposalId: '' }] = current.listPending();
  return proposalId;
};

import { type Mission, reviewerId } from '../mission/mission.ts';
import { MissionError } from '../mission/mission-error.ts';
import { recallFaults, teamFaults } from '../mission/team-faults.ts';
import { findingsVerify, missionAssign } from '../agents/capabilities.ts';
import { MissionRun, type RunMissionDeps, type RunMissionOptions } from './mission-run.ts';
import type { MissionOutcome } from './mission-outcome.ts';
import { offeredBy, offers } from './team.ts';

/**
 * Runs a mission until every task is over or a limit is reached; the outcome says which.
 *
 * Rejects with MissionError, before anything starts, if nobody in the team offers a needed capability.
 */
export async function runMission(
  mission: Mission,
  options: RunMissionOptions,
  { team, clock, progress, cores, skills, code }: RunMissionDeps,
): Promise<MissionOutcome> {
  const roster = await team.roster();
  const ids = new Set(roster.map(({ id }) => id));
  const faults = [
    ...(mission.code?.reviewers ?? [])
      .map(reviewerId)
      .filter((id) => !ids.has(id))
      .map((id) => `code.reviewers: the team has no "${id}"`),
    ...teamFaults(mission, offeredBy(roster)),
    ...(skills === undefined ? recallFaults(mission) : []),
  ];
  if (faults.length > 0) throw new MissionError(`"${mission.name}"`, faults);
  const whoOffers = (id: string, role: string): string => {
    const row = roster.find((candidate) => offers(candidate, id));
    if (row === undefined)
      throw new MissionError(`"${mission.name}"`, [`the team has no ${role}: nobody offers "${id}"`]);
    return row.id;
  };
  const assigner = whoOffers(missionAssign.id, 'assigner');
  const gate = whoOffers(findingsVerify.id, 'gate');
  const given = {
    ...(progress === undefined ? {} : { progress }),
    ...(cores === undefined ? {} : { cores }),
    ...(skills === undefined ? {} : { skills }),
    ...(code === undefined ? {} : { code }),
  };
  return new MissionRun(mission, options, { team, clock, assigner, gate, ...given }).run();
}

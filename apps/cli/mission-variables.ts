import { findMissions, repositoryRoot } from '@orrery/ralph-loop';
import type { DoctorFinding } from './doctor-finding.ts';
import { sourcedMission } from './mission-meant.ts';
import { variablesMeant } from './variables-meant.ts';

/** Says of each variable that the only mission of this folder names whether there is something in it; never what. */
export async function missionVariables(): Promise<readonly DoctorFinding[]> {
  const repository = await repositoryRoot('.');
  if ('refusal' in repository) return [];
  const { root } = repository;
  const [only, ...others] = await findMissions(root);
  if (only === undefined || others.length > 0) return [];
  try {
    const { mission } = await sourcedMission({}, { root, file: undefined });
    return variablesMeant(undefined, mission, process.env).map(({ name, field, of, state }) => ({
      area: 'mission',
      what: name,
      state: state === 'set' ? 'ok' : 'missing',
      text: `is ${state}; for ${of}, as ${field} says`,
    }));
  } catch {
    return []; // `orrery check` says what is wrong with it.
  }
}

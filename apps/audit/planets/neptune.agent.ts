import { PLANETS } from 'orrery/planets';
import { countFindings } from '../about-mission/count-findings.ts';
import { missionCount } from '../capabilities.ts';
import { missionPlanet } from '../planet.ts';

export const neptune = missionPlanet(PLANETS.neptune, missionCount, ({ results }) => countFindings(results));

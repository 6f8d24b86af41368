import { PLANETS } from 'orrery/planets';
import { nameDeaths } from '../about-mission/name-deaths.ts';
import { missionDeaths } from '../capabilities.ts';
import { missionPlanet } from '../planet.ts';

export const mimas = missionPlanet(PLANETS.mimas, missionDeaths, ({ results }) => nameDeaths(results));

import { PLANETS } from 'orrery/planets';
import { errorsCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { promises } from '../tools/oxlint-promises.tool.ts';

export const charon = planet(PLANETS.charon, errorsCheck, [promises]);

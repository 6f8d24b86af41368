import { PLANETS } from 'orrery/planets';
import { typesCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { mistakes } from '../tools/oxlint-mistakes.tool.ts';
import { tsc } from '../tools/tsc.tool.ts';

export const mars = planet(PLANETS.mars, typesCheck, [tsc, mistakes]);

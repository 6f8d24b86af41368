import { PLANETS } from 'orrery/planets';
import { performanceCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { speed } from '../tools/oxlint-speed.tool.ts';

export const io = planet(PLANETS.io, performanceCheck, [speed]);

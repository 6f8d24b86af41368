import { PLANETS } from 'orrery/planets';
import { docsCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { remark } from '../tools/remark.tool.ts';

export const callisto = planet(PLANETS.callisto, docsCheck, [remark]);

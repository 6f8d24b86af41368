import { PLANETS } from 'orrery/planets';
import { realtimeCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { react } from '../tools/oxlint-react.tool.ts';

export const titan = planet(PLANETS.titan, realtimeCheck, [react]);

import { PLANETS } from 'orrery/planets';
import { dependenciesCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { dependencies } from '../tools/dependencies.tool.ts';

export const uranus = planet(PLANETS.uranus, dependenciesCheck, [dependencies]);

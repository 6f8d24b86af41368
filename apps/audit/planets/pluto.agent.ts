import { PLANETS } from 'orrery/planets';
import { schemaCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { libpgQuery } from '../tools/libpg-query.tool.ts';

export const pluto = planet(PLANETS.pluto, schemaCheck, [libpgQuery]);

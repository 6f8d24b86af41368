import { PLANETS } from 'orrery/planets';
import { testsCheck } from '../capabilities.ts';
import { planet } from '../planet.ts';
import { tests } from '../tools/oxlint-tests.tool.ts';

export const saturn = planet(PLANETS.saturn, testsCheck, [tests]);

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

/** The page as it is built, and its sources. */
const built = (name: string) => readFileSync(join('dist/web', name), 'utf8');
const sources = readdirSync('web', { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
  .map((file) => join('web', file));
const textOf = (file: string) => readFileSync(file, 'utf8');

test('the scripts of the page have at most 60 kB as they are sent', () => {
  const bytes = ['page.js', 'stream.js'].map((name) => gzipSync(built(name)).length);
  expect(bytes[0]! + bytes[1]!).toBeLessThan(60_000);
});

test('S10 the page has no way to turn text into HTML or code, and its document contains neither script nor style', () => {
  const sinks =
    /innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|DOMParser|srcdoc|document\.write|\beval\(|new Function|setHTML|javascript:|setAttribute\(\s*['"](?:style|on)/;
  expect(sources.length).toBeGreaterThan(50);
  expect(sources.filter((file) => sinks.test(textOf(file)))).toEqual([]);
  expect(built('index.html')).not.toMatch(/<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=/);
  // A policy without 'unsafe-eval' would refuse them.
  expect(built('page.js')).not.toMatch(/\beval\(|new Function\(/);
});

test('the page knows types and pure code, and no part of Node', () => {
  const PACKAGES = ['preact', 'preact/hooks', '@preact/signals'];
  // The words for events are those of the terminal.
  const MAY = [/^src\/core\//, /^src\/views\/plain\.ts$/, /^web\//];
  const wrong = sources.flatMap((file) =>
    [...textOf(file).matchAll(/^(?:import|export)\s(?:[^'";]*?\sfrom\s)?'([^']+)'/gm)]
      .map(([, target]) => target!)
      .map((target) => (target.startsWith('.') ? relative('.', resolve(dirname(file), target)) : target))
      .filter((target) => !PACKAGES.includes(target) && !MAY.some((allowed) => allowed.test(target)))
      .map((target) => `${file} -> ${target}`),
  );
  expect(wrong).toEqual([]);
  expect(built('page.js')).not.toMatch(/node:|\bprocess\./);
});

test('files of the page are small, have names that say something, and export by name', () => {
  expect(sources.filter((file) => textOf(file).split('\n').length - 1 > 300)).toEqual([]);
  expect(sources.filter((file) => !/^web(\/[a-z]+(-[a-z]+)*){1,4}\.tsx?$/.test(file))).toEqual([]);
  expect(sources.filter((file) => /^export default\b/m.test(textOf(file)))).toEqual([]);
});

import axe from 'axe-core';
import type { Page } from 'playwright-core';

interface Fault {
  look: string;
  rule: string;
  where: string;
}

/** What axe finds to be serious or critical in the page (or a part of it), and whether it can be scrolled sideways, in both themes and both widths. */
export async function faultsOf(page: Page, part = 'html'): Promise<Fault[]> {
  const faults: Fault[] = [];
  await page.evaluate(axe.source);
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const look = `${colorScheme}, ${width} px`;
      const found = await page.evaluate(async (selector) => {
        const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(selector, { resultTypes: ['violations'] });
        const sideways = document.documentElement.scrollWidth > window.innerWidth ? document.documentElement.scrollWidth : 0;
        return { sideways, violations: violations.map(({ id, impact, nodes }) => ({ id, impact, where: nodes.map((node) => node.html.slice(0, 160)).join('\n') })) };
      }, part);
      if (found.sideways > 0) faults.push({ look, rule: 'no sideways scrolling', where: `${found.sideways} px wide` });
      for (const { id, impact, where } of found.violations) if (impact === 'serious' || impact === 'critical') faults.push({ look, rule: id, where });
    }
  }
  return faults;
}

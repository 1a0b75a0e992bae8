/** Words that decide a verdict whatever else agrees, German and English, as they stand in texts. */

const list = (words: string) => words.split(' ');

/** "not", "nicht": a sentence with one says the opposite of the same sentence without. */
export const NEGATIONS = new Set(list(
  'not no never nothing none neither nor cannot fail fails failed unable lack lacks lacked '
  + 'nicht kein keine keinen keinem keiner keines nie niemals nichts weder',
));

const UPWARD = list(
  'increase increases increased increasing raise raises raised raising rise rises rose risen grow grows grew higher more greater larger improve improves improved improving gain boost boosts boosted enhance enhances enhanced '
  + 'strengthen strengthens strengthened expand expands expanded worsen exceed exceeds exceeded outperform outperforms outperformed longer faster '
  + 'erhöhen erhöht erhöhte erhöhten steigern steigert steigerte steigerten steigen steigt stieg stiegen gestiegen zunehmen zugenommen zunahm zunimmt wächst wuchs gewachsen höher höhere höheren mehr größer größere '
  + 'verbessern verbessert verbesserte verbesserten stärken stärkt stärkte verstärken verstärkt verstärkte verlängern verlängert verlängerte länger schneller übertrifft übertreffen',
);

const DOWNWARD = list(
  'decrease decreases decreased decreasing lower lowers lowered lowering reduce reduces reduced reducing fall falls fell fallen drop drops dropped decline declines declined shrink shrinks shrank less fewer smaller cut cuts '
  + 'diminish diminishes diminished weaken weakens weakened deteriorate deteriorates deteriorated shorter slower underperform '
  + 'verringern verringert verringerte verringerten senken senkt senkte senkten sinken sinkt sank sanken gesunken abnehmen abgenommen abnahm abnimmt reduzieren reduziert reduzierte reduzierten mindern mindert minderte vermindern vermindert verminderte '
  + 'fallen fällt fiel fielen gefallen weniger kleiner niedriger geringer schwächen schwächt schwächte verkürzen verkürzt verkürzte verschlechtern verschlechtert verschlechterte kürzer langsamer',
);

/** Pairs of opposites: a claim on one end and a source on the other contradict each other. */
export const AXES: readonly (readonly [ReadonlySet<string>, ReadonlySet<string>])[] = [
  [new Set(UPWARD), new Set(DOWNWARD)],
  [new Set(list('positive positively favourable favorable beneficial positiv positive positiven positiver günstig günstige vorteilhaft')), new Set(list('negative negatively unfavourable unfavorable harmful negativ negativen negativer ungünstig ungünstige schädlich nachteilig'))],
  [new Set(list('upward upwards above aufwärts')), new Set(list('downward downwards below abwärts'))],
  [new Set(list('often frequently frequent common commonly usually häufig häufiger öfter oft meist meistens gewöhnlich')), new Set(list('rarely seldom rare rarer infrequently selten seltener kaum'))],
  [new Set(list('early earlier earliest früh früher frühe frühen')), new Set(list('late later latest spät später späte späten'))],
  [new Set(list('strong strongly strongest stark starke starken stärker')), new Set(list('weak weakly weakest schwach schwache schwachen schwächer'))],
];

/** Verbs of two parts, on the first axis: "nahm … zu", "went up". */
export const UPWARD_PHRASE = /\b(?:n[aei]h?mm?(?:t|en)?)\b.*\bzu$|\bzunehm|\b(?:go|goes|went|gone|going|is|are|was|were) up\b/u;
export const DOWNWARD_PHRASE = /\b(?:n[aei]h?mm?(?:t|en)?)\b.*\bab$|\b(?:ging|gingen|geht|gehen)\b.*\bzurück\b|\bzurückgegangen\b|\b(?:go|goes|went|gone|going|is|are|was|were) down\b/u;

/** "all", "immer": the claim speaks of everyone. */
export const UNIVERSAL = new Set(list('all every each always everyone everybody everywhere entirely completely universally any alle allen aller alles jede jeder jedes jeden jedem sämtliche sämtlichen immer stets überall ausnahmslos generell vollständig'));

/** "only", "Hälfte": the source speaks of some. */
export const RESTRICTIVE = new Set(list('only merely solely some sometimes partly partially half subset few mainly except nur lediglich ausschließlich manche manchen einige einigen teilweise teils hälfte vereinzelt außer gelegentlich'));

/** How a thesis reports: nothing of what is reported. */
export const REPORTING = list(
  'report reports reported find finds found show shows showed shown argue argues argued state states stated note notes noted conclude concludes concluded suggest suggests suggested demonstrate demonstrates demonstrated observe observed '
  + 'paper study studies recent authors author put e.g i.e see according propose proposed describe described '
  + 'berichten berichtet zeigen zeigt zeigte zeigten finden findet fanden argumentieren argumentiert betonen betont ausführen führen feststellen stellen fest gilt gelten folgendes zufolge laut studie studien arbeit autoren nachweisen schreiben beschreiben siehe belegen belegt',
);

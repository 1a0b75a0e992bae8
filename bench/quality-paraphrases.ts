/**
 * Written by hand, in other words than the generator's: how far a judge gets where claim and source do not share a template. The offline
 * judge was looked at with `paraphrases`; `unseen` was written afterwards and has changed nothing.
 */
import type { Verdict } from '../server/citations/judge/judge.js';

export interface Paraphrase {
  source: string;
  claim: string;
  verdict: Verdict;
}

const sandwich = 'When the errors are heteroskedastic, the usual covariance estimator of ordinary least squares is inconsistent. White (1980) proposed an estimator that stays consistent under heteroskedasticity of unknown form. In small samples, however, it tends to be biased downward, so that tests reject too often. MacKinnon and White therefore suggested corrections, of which HC3 performed best in their simulations with up to 250 observations.';
const sleep = 'We followed 1,204 adolescents over three school years. Students who slept less than seven hours had lower grades in mathematics, while no association was found for languages. Sleep duration explained about 4 percent of the variance. Because sleep was self-reported, the estimates may be too small. The association was similar for girls and boys.';
const moor = 'Die Wiedervernässung der untersuchten Moore senkte die Emissionen von Kohlendioxid innerhalb von fünf Jahren um 62 Prozent. Die Methanemissionen stiegen dagegen in den ersten beiden Jahren deutlich an. Über alle Standorte gerechnet war die Klimabilanz nach etwa vier Jahren positiv. Untersucht wurden nur Niedermoore in Norddeutschland.';
const schule = 'In 48 Grundschulen wurde der Unterrichtsbeginn um eine Stunde verschoben. Die Zahl der Verspätungen halbierte sich, die Noten blieben jedoch unverändert. Eltern mit Schichtarbeit bewerteten die Umstellung überwiegend negativ. Lehrkräfte berichteten von aufmerksameren Kindern in der ersten Stunde.';
const trams = 'After the new tram line opened, car traffic along the corridor fell by 18 percent. Retail turnover in the adjoining streets did not change. House prices within 400 metres of a stop rose by 7 percent, most of it before the opening. Effects on air quality could not be shown.';
const library = 'The library extended its opening hours to midnight in 2015. Visits in the evening rose by a third, but the total number of loans declined slightly. A survey of 640 users shows that most of them come to work in silence. Complaints about noise became rarer.';
const wald = 'Im Nationalpark wurde der Rothirsch zwischen 2008 und 2016 nicht bejagt. Der Verbiss an jungen Tannen nahm in dieser Zeit zu, an Buchen ließ sich kein Unterschied feststellen. Die Zahl der Hirsche wurde anhand von Losung geschätzt und lag zuletzt bei 14 Tieren je Quadratkilometer. Besucher sahen die Tiere häufiger als zuvor.';
const wages = 'Using register data of 31,000 firms, we find that minimum wages reduced wage inequality at the bottom of the distribution. Employment did not fall overall. Only in very small firms do we observe a slight decline of working hours. Prices in restaurants went up by 1.6 percent.';

export const paraphrases: Paraphrase[] = [
  { source: sandwich, verdict: 'supported', claim: 'The usual OLS covariance estimator is inconsistent if the errors are heteroskedastic.' },
  { source: sandwich, verdict: 'supported', claim: 'White’s estimator remains consistent under heteroskedasticity of unknown form.' },
  { source: sandwich, verdict: 'supported', claim: 'In small samples the estimator is biased downward and tests reject too often.' },
  { source: sandwich, verdict: 'partly_supported', claim: 'HC3 performs best in all samples, with any number of observations.' },
  { source: sandwich, verdict: 'not_supported', claim: 'In small samples the estimator is biased upward, so that tests reject too rarely.' },
  { source: sandwich, verdict: 'not_supported', claim: 'The ordinary covariance estimator is consistent even when errors are heteroskedastic.' },
  { source: sandwich, verdict: 'not_supported', claim: 'Bootstrap standard errors are preferable in panel data with few clusters.' },
  { source: sleep, verdict: 'supported', claim: 'Adolescents sleeping less than seven hours have lower mathematics grades.' },
  { source: sleep, verdict: 'supported', claim: 'Sleep duration explains about 4 percent of the variance in grades.' },
  { source: sleep, verdict: 'supported', claim: 'The association between sleep and grades is similar for girls and boys.' },
  { source: sleep, verdict: 'partly_supported', claim: 'Short sleep goes along with lower grades in mathematics and in languages.' },
  { source: sleep, verdict: 'not_supported', claim: 'Sleep duration explains about 40 percent of the variance.' },
  { source: sleep, verdict: 'not_supported', claim: 'An association with sleep was found for languages.' },
  { source: sleep, verdict: 'not_supported', claim: 'Caffeine in the evening delays falling asleep by half an hour.' },
  { source: moor, verdict: 'supported', claim: 'Die Wiedervernässung von Mooren senkt die Kohlendioxidemissionen um 62 Prozent.' },
  { source: moor, verdict: 'supported', claim: 'In den ersten zwei Jahren steigen die Methanemissionen nach einer Wiedervernässung deutlich an.' },
  { source: moor, verdict: 'supported', claim: 'Nach etwa vier Jahren ist die Klimabilanz über alle Standorte positiv.' },
  { source: moor, verdict: 'partly_supported', claim: 'In allen Mooren senkt die Wiedervernässung die Emissionen von Kohlendioxid um 62 Prozent.' },
  { source: moor, verdict: 'not_supported', claim: 'Die Methanemissionen sanken in den ersten beiden Jahren deutlich.' },
  { source: moor, verdict: 'not_supported', claim: 'Die Wiedervernässung senkte die Emissionen von Kohlendioxid um 26 Prozent.' },
  { source: moor, verdict: 'not_supported', claim: 'Aufgeforstete Wälder speichern mehr Kohlenstoff als Grünland.' },
  { source: schule, verdict: 'supported', claim: 'Ein späterer Unterrichtsbeginn halbiert die Zahl der Verspätungen.' },
  { source: schule, verdict: 'supported', claim: 'Die Noten blieben unverändert, als der Unterrichtsbeginn verschoben wurde.' },
  { source: schule, verdict: 'partly_supported', claim: 'Ein späterer Unterrichtsbeginn halbiert die Verspätungen und verbessert die Noten.' },
  { source: schule, verdict: 'not_supported', claim: 'Eltern mit Schichtarbeit bewerteten die Umstellung überwiegend positiv.' },
  { source: schule, verdict: 'not_supported', claim: 'Kleinere Klassen erhöhen die Lesekompetenz von Zweitklässlern.' },
  { source: trams, verdict: 'supported', claim: 'Along the new tram line car traffic decreased by 18 percent.' },
  { source: trams, verdict: 'supported', claim: 'House prices close to tram stops increased by 7 percent.' },
  { source: trams, verdict: 'supported', claim: 'Retail turnover in adjoining streets did not change after the opening.' },
  { source: trams, verdict: 'partly_supported', claim: 'The tram line reduced car traffic by 18 percent and improved air quality.' },
  { source: trams, verdict: 'not_supported', claim: 'Car traffic along the corridor rose by 18 percent after the tram opened.' },
  { source: trams, verdict: 'not_supported', claim: 'Retail turnover changed after the opening of the line.' },
  { source: trams, verdict: 'not_supported', claim: 'Bus lanes shorten travel times by a fifth.' },
  { source: library, verdict: 'supported', claim: 'After the extension of opening hours, evening visits rose by a third.' },
  { source: library, verdict: 'supported', claim: 'Most users of the library come to work in silence.' },
  { source: library, verdict: 'not_supported', claim: 'Longer opening hours increased the number of loans.' },
  { source: library, verdict: 'not_supported', claim: 'Complaints about noise became more frequent.' },
  { source: library, verdict: 'not_supported', claim: 'Digital lending replaces visits to a branch.' },
  { source: library, verdict: 'partly_supported', claim: 'Evening visits rose by a third, and all users come to work in silence.' },
  { source: wald, verdict: 'supported', claim: 'Der Verbiss an jungen Tannen nahm ohne Bejagung zu.' },
  { source: wald, verdict: 'supported', claim: 'Zuletzt lebten 14 Hirsche auf einem Quadratkilometer.' },
  { source: wald, verdict: 'not_supported', claim: 'Der Verbiss an jungen Tannen nahm in dieser Zeit ab.' },
  { source: wald, verdict: 'not_supported', claim: 'Besucher sahen die Tiere seltener als zuvor.' },
  { source: wald, verdict: 'not_supported', claim: 'Zuletzt lag die Zahl der Hirsche bei 41 Tieren je Quadratkilometer.' },
  { source: wald, verdict: 'partly_supported', claim: 'Der Verbiss nahm an Tannen und an Buchen zu.' },
  { source: wages, verdict: 'supported', claim: 'Minimum wages lowered wage inequality at the bottom of the distribution.' },
  { source: wages, verdict: 'supported', claim: 'Restaurant prices increased by 1.6 percent.' },
  { source: wages, verdict: 'not_supported', claim: 'Employment fell overall because of minimum wages.' },
  { source: wages, verdict: 'partly_supported', claim: 'Working hours declined in all firms.' },
];

const vines = 'Grapes from the north-facing slopes ripened eleven days later than those from the valley. Their acidity was higher, their sugar content lower. Irrigation had no measurable effect on either. In the dry year 2018 a quarter of the young vines died.';
const impfung = 'An der Befragung nahmen 2.350 Pflegende teil. Von ihnen waren 71 Prozent geimpft. Wer Vertrauen in die Leitung hatte, ließ sich eher impfen. Ein Einfluss des Alters zeigte sich nicht. Fehlzeiten gingen nach der Impfung zurück.';

export const unseen: Paraphrase[] = [
  { source: vines, verdict: 'supported', claim: 'On north-facing slopes grapes ripen eleven days later than in the valley.' },
  { source: vines, verdict: 'supported', claim: 'Grapes from these slopes have higher acidity and lower sugar content.' },
  { source: vines, verdict: 'not_supported', claim: 'Grapes from the slopes ripened earlier than those from the valley.' },
  { source: vines, verdict: 'not_supported', claim: 'Irrigation increased the sugar content measurably.' },
  { source: vines, verdict: 'partly_supported', claim: 'In 2018 a quarter of all vines died.' },
  { source: vines, verdict: 'not_supported', claim: 'Organic farming raises the number of earthworms.' },
  { source: impfung, verdict: 'supported', claim: 'Von den befragten Pflegenden waren 71 Prozent geimpft.' },
  { source: impfung, verdict: 'supported', claim: 'Nach der Impfung gingen die Fehlzeiten zurück.' },
  { source: impfung, verdict: 'not_supported', claim: 'Die Fehlzeiten stiegen nach der Impfung.' },
  { source: impfung, verdict: 'not_supported', claim: 'Das Alter hatte einen deutlichen Einfluss auf die Impfbereitschaft.' },
  { source: impfung, verdict: 'not_supported', claim: 'Von den Pflegenden waren 17 Prozent geimpft.' },
  { source: impfung, verdict: 'partly_supported', claim: 'Wer Vertrauen in die Leitung hatte, ließ sich immer impfen und fehlte seltener.' },
];

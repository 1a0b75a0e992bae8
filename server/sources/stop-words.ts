/** Little words of German and English: they say nothing about what a passage is about. */
export const stopWords: ReadonlySet<string> = new Set((
  'a an and are as at be been being but by can could did do does for from had has have he her his how i if in into is it its may might more most must of on or our '
  + 'she should so such than that the their them then there these they this those to was we were what when where which while who will with would you your also '
  + 'aber als am an auch auf aus bei beim bin bis da dabei damit dann das dass daß dem den denn der des dessen deren die dies diese diesem diesen dieser dieses durch '
  + 'ein eine einem einen einer eines er es für haben hat hatte hatten ich ihm ihn ihr ihre ihrem ihren ihrer im in ins ist kann können könnte mehr mit nach noch '
  + 'ob oder sehr sein seine seinem seinen seiner sich sie sind so sodass sowie soll sollte über um und unter uns vom von vor war waren was wenn werden wie wird wir wird wo '
  + 'worden wurde wurden zu zum zur zwar zwischen et al vgl bzw etc eg ie cf'
).split(' '));

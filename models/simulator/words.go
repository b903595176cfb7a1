package simulator

import "strings"

// vocabularyWords are the whole words of the built-in tokenizer and the words
// of filler text. Lower-case ASCII letters only, each once.
var vocabularyWords = strings.Fields(`
the of and to in is that it for was on are as with be at by this have from or one had not but what all were when we there can an your which their said if
do will each about how up out them then she many some so these would other into has more her two like him see time could no make than first been its who now
people my made over did down only way find use may water long little very after words called just where most know get through back much before go good new
write our used me man too any day same right look think also around another came come work three word must because does part even place well such here take
why things help put years different away again off went old number great tell men say small every found still between name should home big give air line set
own under read last never us left end along while might next sound below saw something thought both few those always looked show large often together asked
house world going want school important until form food keep children feet land side without boy once animals life enough took four head above kind began
almost live page got earth need far hand high year mother light parts country father let night following picture being study second eyes soon times story
boys since white days ever paper hard near sentence better best across during today others however sure means knew try told young miles sun ways thing whole
hear example heard several change answer room sea against top turned learn point city play toward five using himself usually money seen car morning long
body upon family later turn move face door cut done group true half red fish plants living wanted black eat short united run book gave order open ground
lines cold really table remember tree course front space inside ago sad early learned brought close nothing though idea before lived became add become grow
draw yet less wind behind cannot letter among able dog shown mean english rest perhaps certain six feel fire ready green yes built special ran full town
complete oh person hot anything hold state list stood hundred ten fast felt kept notice can't strong voice probably area horse matter stand box start class
piece surface river common stop am talk whether fine round dark past ball girl road blue instead either held already warm gone finally summer understand
moon animal mind outside power problem longer winter deep heavy carefully follow beautiful everyone leave everything game system bring watch shell dry within
floor ice ship themselves begin fact third quite carry distance although sat possible heart real simple snow rain suddenly leaves easy lay size wild weather
miss pattern sky walked main someone center field stay itself boat question wide least tiny hour happened foot care low else gold build glass rock tall alone
bottom check reading fall poor map friend language job music buy window mark heat grew listen ask single clear energy week explain lost spring travel wrote
farm circle whose correct bed measure straight base mountain caught hair bird wood color war fly yourself seem thus square moment teacher happy bright sent
present plan rather length speed machine information except figure free fell suppose natural ocean government baby grass plane street couldn reason difference
maybe history mouth middle step child strange wish soil human trip woman eye milk choose north seven famous late pay sleep iron trouble store beside oil
modern fun catch business reach lot won case speak shape eight edge soft village object age minute wall meet record copy forest especially necessary he
unit flat direction south subject skin wonder smile quiet total equal cost price sell sold each share remain remaining average percent rate value sum
result total model token data request server option choice letter given therefore hence solution code function return string list input output test
dollars eggs apples hours minutes weeks months many much left per twice double cups pounds students books pages cars boxes cards bought spent earns
system user assistant let us step problem final think reasoning following multiple content message prompt please provide based described below context
`)

package datasets

var choiceShapes = map[string]shape{}

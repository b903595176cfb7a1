package datasets

var textShapes = map[string]shape{}

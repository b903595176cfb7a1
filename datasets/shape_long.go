package datasets

var longShapes = map[string]shape{}

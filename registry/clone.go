package registry

import "reflect"

// deepCopy copies a configuration: exported fields, slices, maps and pointers all
// the way down, so that changing the copy changes nobody else's. It is a copy by
// reflection because listing a catalogue copies hundreds of entries, and a way
// through YAML text takes milliseconds for each.
func deepCopy[T any](v T) T {
	var out T
	copyValue(reflect.ValueOf(&out).Elem(), reflect.ValueOf(&v).Elem())
	return out
}

func copyValue(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			copyValue(dst.Elem(), src.Elem())
		}
	case reflect.Interface:
		if !src.IsNil() {
			c := reflect.New(src.Elem().Type()).Elem()
			copyValue(c, src.Elem())
			dst.Set(c)
		}
	case reflect.Slice:
		if !src.IsNil() {
			dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
			for i := range src.Len() {
				copyValue(dst.Index(i), src.Index(i))
			}
		}
	case reflect.Map:
		if src.IsNil() {
			return
		}
		dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
		for it := src.MapRange(); it.Next(); {
			c := reflect.New(src.Type().Elem()).Elem()
			copyValue(c, it.Value())
			dst.SetMapIndex(it.Key(), c)
		}
	case reflect.Struct:
		dst.Set(src) // unexported fields have no other way
		for i := range src.NumField() {
			if src.Type().Field(i).IsExported() {
				dst.Field(i).SetZero()
				copyValue(dst.Field(i), src.Field(i))
			}
		}
	case reflect.Array:
		for i := range src.Len() {
			copyValue(dst.Index(i), src.Index(i))
		}
	default:
		dst.Set(src)
	}
}

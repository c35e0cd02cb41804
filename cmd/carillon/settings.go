package main

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/alecthomas/kong"

	"carillon/internal/base/config"
	"carillon/internal/store"
)

// newSettingFlags returns flags for all settings, or for the named ones: a struct for kong whose fields distinguish
// given flags from absent ones, because config decides the precedence.
func newSettingFlags(names ...string) kong.Plugins {
	var fields []reflect.StructField
	for _, s := range config.Settings() {
		if len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		fields = append(fields, settingField(len(fields), s.Name, s.Doc+" ["+s.Env()+"]", s))
		if s.Secret {
			help := "File to read --" + s.Name + " from. [" + s.Env() + "_FILE]"
			fields = append(fields, settingField(len(fields), s.Name+config.FileSuffix, help, config.Setting{Unit: "file"}))
		}
	}
	return kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}
}

func settingField(n int, name, help string, s config.Setting) reflect.StructField {
	kind := reflect.TypeFor[*string]()
	tag := `name:` + strconv.Quote(name) + ` help:` + strconv.Quote(help)
	switch {
	case s.Switch:
		kind = reflect.TypeFor[*bool]()
	case s.List:
		kind = reflect.TypeFor[[]string]()
		tag += ` sep:"none"`
	}
	if !s.Switch {
		placeholder := s.Unit
		if s.Default != "" {
			placeholder = s.Default
		}
		tag += ` placeholder:` + strconv.Quote(placeholder)
	}
	return reflect.StructField{Name: "F" + strconv.Itoa(n), Type: kind, Tag: reflect.StructTag(tag)}
}

// givenSettings returns the flags given on the command line.
func givenSettings(p kong.Plugins) map[string][]string {
	given := map[string][]string{}
	v := reflect.ValueOf(p[0]).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("name")
		switch x := v.Field(i).Interface().(type) {
		case *string:
			if x != nil {
				given[name] = []string{*x}
			}
		case *bool:
			if x != nil {
				given[name] = []string{strconv.FormatBool(*x)}
			}
		case []string:
			if x != nil {
				given[name] = x
			}
		}
	}
	return given
}

// onSQLite loads the settings of a command that requires SQLite.
func onSQLite(p kong.Plugins, env *environment) (config.Config, error) {
	cfg, err := config.Load(givenSettings(p), env.Lookup)
	if err == nil && cfg.DatabaseURL != "" {
		err = store.ErrNotSQLite
	}
	if err != nil {
		return cfg, usageError{err}
	}
	return cfg, nil
}

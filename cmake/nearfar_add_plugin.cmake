# nearfar_add_plugin(name sources...): a shared object <name>.so with designs and workloads, for `nearfar --plugin`. It
# is built as the program was, and finds the simulator in it when it is loaded.
function(nearfar_add_plugin name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "" CXX_EXTENSIONS OFF)
  target_link_libraries(${name} PRIVATE nearfar::headers nearfar::nearfar)
endfunction()

# cmake -D COMPILER=c++ -D SOURCE=file.cc -D ROOT=dir -D CASE=name -D ERROR=regex -P this
# Succeeds when the good line of a case compiles and the bad one fails with the error it must have.
set(command "${COMPILER}" -std=c++20 -fsyntax-only "-I${ROOT}" "-DCASE_${CASE}")
execute_process(COMMAND ${command} "${SOURCE}" RESULT_VARIABLE result ERROR_VARIABLE output)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "${CASE}: the good line does not compile:\n${output}")
endif()
execute_process(COMMAND ${command} -DMUST_NOT_COMPILE "${SOURCE}"
  RESULT_VARIABLE result ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "${CASE}: the bad line compiles")
elseif(NOT output MATCHES "error: [^\n]*(${ERROR})")
  message(FATAL_ERROR "${CASE}: the bad line fails for another reason than '${ERROR}':\n${output}")
endif()

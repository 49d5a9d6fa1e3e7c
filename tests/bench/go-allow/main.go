// SPDX-License-Identifier: Apache-2.0
// Command go-allow is a minimal webhook for comparison: it decodes the AdmissionReview and its pod
// with the Kubernetes types, and always allows.
package main

import (
	"encoding/json"
	"flag"
	"io"
	"log"
	"net/http"

	admission "k8s.io/api/admission/v1"
	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// answer returns the response to the bytes of a review.
func answer(body []byte) ([]byte, error) {
	var review admission.AdmissionReview
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, err
	}
	var pod core.Pod
	if err := json.Unmarshal(review.Request.Object.Raw, &pod); err != nil {
		return nil, err
	}
	return json.Marshal(admission.AdmissionReview{
		TypeMeta: meta.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"},
		Response: &admission.AdmissionResponse{
			UID:              review.Request.UID,
			Allowed:          true,
			AuditAnnotations: map[string]string{"subject": pod.Namespace + "/Pod/" + pod.Name},
		},
	})
}

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to serve on")
	certificate := flag.String("cert", "", "file with the serving certificate")
	key := flag.String("key", "", "file with its private key")
	flag.Parse()

	http.HandleFunc("/validate", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil {
			body, err = answer(body)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	log.Fatal(http.ListenAndServeTLS(*listen, *certificate, *key, nil))
}
